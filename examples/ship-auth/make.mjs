/** Stands in for coding agents and generators: each call writes a few lines in `out/`, or checks them. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const OUT = new URL("out/", import.meta.url);
const at = (file) => new URL(file, OUT);
const read = (file) => readFileSync(at(file), "utf8");
const MIGRATIONS = { auth: "0012_auth.sql", user: "0013_user.sql" };

const [what, name] = process.argv.slice(2);
switch (what) {
  case "schema":
    rmSync(OUT, { recursive: true, force: true });
    mkdirSync(OUT, { recursive: true });
    writeFileSync(at("schema.sql"), "create schema app;\n");
    break;
  case "table":
    read("schema.sql");
    writeFileSync(at(MIGRATIONS[name]), `create table app.${name} (id int primary key);\n`);
    break;
  case "service":
    for (const file of Object.values(MIGRATIONS)) read(file);
    appendFileSync(at("api.ts"), `export const ${name}Service = () => "${name}";\n`);
    break;
  case "check":
    if (!read("api.ts").includes(`${name}Service`)) process.exit(1);
    break;
  case "gateway":
    writeFileSync(at("gateway.txt"), `${readdirSync(OUT).sort().join("\n")}\n${read("api.ts")}`);
    break;
}
