import type { BlockList } from "node:net";

/**
 * Whether an address belongs to the public internet, after the special-purpose registries of IANA (RFC 6890). Addresses
 * that embed an IPv4 address (mapped, NAT64, 6to4, Teredo) count as private: no public server needs them.
 *
 * @param address an IPv4 address, or an IPv6 address without brackets
 */
export function isPublicAddress(address: string): boolean {
  const { BlockList: Constructor, isIP } = process.getBuiltinModule("node:net");
  privateV4 ??= blockList(Constructor, PRIVATE_V4, "ipv4");
  privateV6 ??= blockList(Constructor, PRIVATE_V6, "ipv6");
  globalV6 ??= blockList(Constructor, ["2000::/3"], "ipv6");
  // A scope (`fe80::1%eth0`) names an interface of this machine.
  switch (isIP(address)) {
    case 4:
      return !privateV4.check(address, "ipv4");
    case 6:
      return !address.includes("%") && globalV6.check(address, "ipv6") && !privateV6.check(address, "ipv6");
    default:
      return false;
  }
}

const PRIVATE_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  // Multicast, reserved and broadcast.
  "224.0.0.0/3",
];

/** Within 2000::/3, which is all that is assigned for public use. */
const PRIVATE_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

let privateV4: BlockList | undefined;
let privateV6: BlockList | undefined;
let globalV6: BlockList | undefined;

function blockList(Constructor: new () => BlockList, ranges: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new Constructor();
  for (const range of ranges) {
    const [base = "", length] = range.split("/");
    list.addSubnet(base, Number(length), family);
  }
  return list;
}
