// node calculator.mjs PAGE.html EXACTDP: the calculator in headless Chromium, opened as a file.
// Every answer must equal the command line's, to the last digit. Exits 1 at the first difference.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { browser, problems } from "./browser.mjs";

const [page_, exactdp] = process.argv.slice(2);
const CASES = {
  unknown: [{ k: "10", epsilon: "1", delta: "1e-6" }, { k: "51914", epsilon: "0.35", delta: "1e-5" }, { k: "1", epsilon: "7/20", delta: "0.001" }],
  known: [{ k: "10", epsilon: "1", delta: "1e-6" }, { k: "4", epsilon: "0.1", delta: "1e-9" }],
  gaussian: [{ sensitivity: "1", epsilon: "1", delta: "1e-6" }, { sensitivity: "2.5", epsilon: "0.2", delta: "1e-12" }],
  given: [{ sigma: "4", sensitivity: "1", epsilon: "1" }, { sigma: "0.5", sensitivity: "3", epsilon: "9" }],
  convert: [{ rho: "0.1", epsilon: "1" }, { rho: "1/3", epsilon: "5" }],
  target: [{ epsilon: "1", delta: "1e-6" }],
  training: [
    { noise: "1", rate: "0.01", steps: "1000", delta: "1e-6" }, { noise: "0.6", rate: "0.004", steps: "200", delta: "1e-5" },
    { noise: "4", rate: "0.1", steps: "100", delta: "1e-9" }, { noise: "2", rate: "1", steps: "12", delta: "1e-6" },
  ],
  local: [{ values: "100", epsilon: "1", n: "10000" }, { values: "2", epsilon: "0.1", n: "100" }],
};

const { context, close } = await browser();
const page = await context.newPage();
const asked = [], said = [];
page.on("request", (request) => { if (!/^(file|blob|data):/.test(request.url())) asked.push(request.url()); });
page.on("pageerror", (error) => said.push(String(error)));
const cpu = performance.now();
await page.goto(pathToFileURL(resolve(page_)).href);
assert.match(await page.locator("#answer").textContent(), /proved/, "the first answer is in the page");
assert.equal(await page.locator("#status").textContent(), "Certified when this page was built.");
await page.fill("#text-k", "11");
assert.equal(await page.locator("#answer").textContent(), "", "no answer of other values stays");
assert.match(await page.locator("#status").textContent(), /^Loading/);
const bar = () => page.evaluate(() => document.getElementById("progress").value);
const early = await bar();
await page.waitForTimeout(700);
assert.ok(await bar() > early, "the bar moves");
await page.waitForFunction(() => document.body.dataset.seconds, null, { timeout: 300000 });
console.log(`first answer after ${((performance.now() - cpu) / 1000).toFixed(1)} s, the library took ${await page.evaluate(() => document.body.dataset.loaded)} s`);

const answer = async () => {
  await page.waitForFunction(() => /^(Certified|No answer|The exact)/.test(document.getElementById("status").textContent), null, { timeout: 300000 });
  return { json: await page.locator("#answer").getAttribute("data-json"), seconds: await page.evaluate(() => document.body.dataset.seconds) };
};

for (const [question, cases] of Object.entries(CASES)) {
  for (const values of cases) {
    await page.check(`input[value=${question}]`);
    await answer();
    for (const [name, value] of Object.entries(values)) {
      await page.evaluate(() => { document.getElementById("status").textContent = "…"; });
      await page.fill(`#text-${name}`, value);
      await answer();
    }
    const { json, seconds } = await answer();
    const command = await page.locator("#command").textContent();
    const expected = execFileSync(exactdp, [...command.split(" ").slice(1), "--json"], { encoding: "utf8" }).trim();
    assert.equal(json, expected, command);
    assert.ok(question === "training" || (await page.locator("#picture svg").count()) === 1, "a picture");
    console.log(`${seconds} s  ${command}`);
  }
}

// the Python lines say the same as the command
await page.check("input[value=gaussian]");
await answer();
const lines = await page.locator("#python").textContent();
const printed = execFileSync(join(exactdp, "..", "python"), ["-c", lines], { encoding: "utf8" });
const shown = JSON.parse((await answer()).json);
assert.ok(printed.startsWith(shown.parameters.sigma), printed);

// the keyboard moves a slider, and answer and picture follow
await page.focus("#range-epsilon");
const before = await page.locator("#text-epsilon").inputValue();
await page.keyboard.press("ArrowRight");
for (let i = 0; i < 30; i++) await page.keyboard.press("ArrowRight");
await page.waitForTimeout(1500);
assert.notEqual(await page.locator("#text-epsilon").inputValue(), before);
await answer();

// what is no number is refused with the library's own words
await page.evaluate(() => { document.getElementById("status").textContent = "…"; });
await page.fill("#text-epsilon", "one");
await answer();
assert.match(await page.locator("#answer").textContent(), /^epsilon must be/);
assert.equal(await page.locator("#text-epsilon").getAttribute("aria-invalid"), "true");
await page.fill("#text-epsilon", "1");

// an answer that takes long is given up when other values are entered, and the page goes on
await page.check("input[value=training]");
await answer();
await page.evaluate(() => { document.getElementById("status").textContent = "…"; });
await page.fill("#text-steps", "1000000");
await page.waitForTimeout(11000);
await page.fill("#text-steps", "10");
await answer();
assert.match(await page.locator("#command").textContent(), /--steps 10 /);
assert.match(await page.locator("#answer").getAttribute("data-json"), /"steps": "10"/);

// the statement can be downloaded, and the checkers here and in the page find it valid
const folder = mkdtempSync(join(tmpdir(), "calculator"));
await page.check("input[value=unknown]");
await page.waitForSelector("#download:not([hidden])", { timeout: 300000 });
const [download] = await Promise.all([page.waitForEvent("download"), page.click("#download")]);
const file = join(folder, "statement.json");
await download.saveAs(file);
assert.match(execFileSync(exactdp, ["statement", "check", file], { encoding: "utf8" }), /^valid/);
writeFileSync(join(folder, "false.json"), readFileSync(file, "utf8").replace(/"at_most": "[^"]*"/, '"at_most": "1e-30"'));
await page.check("input[value=check]");
for (const [name, verdict] of [["statement.json", "valid"], ["false.json", "not proved"]]) {
  await page.evaluate(() => delete document.getElementById("verdict").dataset.verdict);
  await page.setInputFiles("#file", join(folder, name));
  await page.waitForFunction(() => document.getElementById("verdict").dataset.verdict, null, { timeout: 120000 });
  assert.equal(await page.locator("#verdict").getAttribute("data-verdict"), verdict, name);
}

// a question that is put while another is computed leaves no status of the latter
await page.check("input[value=unknown]");
await page.fill("#text-k", "777");
await page.check("input[value=check]");
await page.waitForTimeout(4000);
assert.equal(await page.locator("#status").textContent(), "Choose a statement to check.");

// the exact CSH, begun while an answer for other values is being computed
await page.check("input[value=unknown]");
await page.fill("#text-k", "51914");
await page.fill("#text-k", "10");
await page.click("#exact");
await page.waitForSelector("#exact-answer", { timeout: 600000 });
const exact = execFileSync(exactdp, ["calibrate", "csh", "--sparsity", "10", "--epsilon", await page.inputValue("#text-epsilon"), "--delta", await page.inputValue("#text-delta"), "--json"], { encoding: "utf8" }).trim();
assert.equal(await page.locator("#exact-answer").getAttribute("data-json"), exact);
console.log(await page.locator("#status").textContent());

// accessible in both schemes and at two widths
for (const colorScheme of ["light", "dark"]) {
  for (const [width, height] of [[390, 844], [1280, 900]]) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    for (const question of ["unknown", "training", "local", "check"]) {
      await page.check(`input[value=${question}]`);
      if (question !== "check") await answer();
      if (width === 390 && question === "unknown") assert.ok((await page.locator("#answer").boundingBox()).y < 800 - 40, "the answer is on the first screen");
      assert.deepEqual(await problems(page), [], `${question}, ${colorScheme}, ${width}`);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `wider than ${width}`);
      if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, `calculator-${question}-${colorScheme}-${width}.png`), fullPage: true });
    }
  }
}
assert.deepEqual(asked, [], "nothing leaves the page");
assert.deepEqual(said, [], "errors in the page");
await close();
console.log("the calculator: every number equals the command line's");
