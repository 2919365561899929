/** Made by the build: the examples of the package. */
declare module "virtual:examples" {
  const examples: readonly {
    readonly name: string;
    readonly project: import("./project.ts").Project;
  }[];
  export default examples;
}
