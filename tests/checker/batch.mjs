// Reads a JSON list of texts, and prints the verdict and the hash of each.
import { readFileSync } from "node:fs";
import { check } from "../../checker/dpcheck.mjs";

const results = JSON.parse(readFileSync(0, "utf8")).map((text) => check(text));
console.log(JSON.stringify(results.map(({ verdict, sha256 }) => [verdict, sha256])));
