export const f = () => new Promise(() => {});
