// groups: the names of all groups. vectors(group): its tests, each with id, question, parameters and
// expected (decimal strings lower and upper, between which the true answer lies).
import { readdirSync, readFileSync } from "node:fs";

const folder = new URL("./vectors/", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8"));

export const schema = read("schema");
export const groups = readdirSync(folder).map((file) => file.replace(/\.json$/, "")).filter((name) => name !== "schema").sort();
export const file = (group) => read(group);
export const vectors = (group) => read(group).testGroups.flatMap((each) => each.tests);
