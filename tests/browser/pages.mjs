// node pages.mjs SITE: six pages of the site at two widths, light and dark; axe finds nothing, nothing
// is wider than the screen, and the search finds the guide first. PICTURES=FOLDER keeps screenshots.
import assert from "node:assert/strict";
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { browser, problems } from "./browser.mjs";

const site = process.argv[2];
const KINDS = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".json": "application/json" };
const server = createServer((request, response) => {
  const file = join(site, normalize(decodeURIComponent(new URL(request.url, "http://x").pathname)));
  const path = existsSync(file) && statSync(file).isDirectory() ? join(file, "index.html") : file;
  if (!existsSync(path)) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": KINDS[extname(path)] || "application/octet-stream" });
  createReadStream(path).pipe(response);
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const base = `http://127.0.0.1:${server.address().port}`;
const { context, close } = await browser();
const page = await context.newPage();

const PAGES = ["index", "guide/which", "guide/comparison", "guide/gallery", "tutorials/release", "conformance"];
const outside = [], wrong = [];
page.on("request", (request) => { if (!request.url().startsWith(base) && !/^(data|blob):/.test(request.url())) outside.push(request.url()); });
for (const colorScheme of ["light", "dark"]) {
  for (const [width, height] of [[390, 844], [1280, 900]]) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    for (const name of PAGES) {
      await page.goto(`${base}/${name}.html`);
      await page.evaluate((theme) => { document.body.dataset.theme = theme; }, colorScheme);
      for (const problem of await problems(page)) wrong.push(`${name}, ${colorScheme}, ${width}: ${problem}`);
      if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1)) wrong.push(`${name} is wider than ${width}`);
      if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, `${name.replace("/", "-")}-${colorScheme}-${width}.png`) });
    }
  }
}
const SEARCHES = {
  "which mechanism": "guide/which", glossary: "guide/glossary", "release counts": "tutorials/release", mean: "tutorials/means", average: "tutorials/means",
  risk: "howto/risk", attacker: "howto/risk", "membership inference": "howto/risk", advantage: "howto/risk", GDPR: "guide/anonymisation",
  anonymization: "guide/anonymisation", "k-anonymity": "guide/anonymisation", microbatch: "howto/training", "DP-SGD": "howto/training",
  "delta meaning": "guide/guarantee", "noise schedule": "howto/training", contact: "guide/faq", "sample report": "guide/reading", "rho to epsilon": "guide/statistics",
  convert: "guide/statistics", laplace: "howto/noise", epsilon: "howto/choose", SQL: "howto/frames", telemetry: "howto/local", budget: "howto/budget",
};
for (const [words, wanted] of Object.entries(SEARCHES)) {
  await page.goto(`${base}/search.html?q=${encodeURIComponent(words)}`);
  await page.waitForSelector("#search-results li a", { timeout: 60000 });
  await page.waitForTimeout(500);
  const found = await page.locator("#search-results li a").first().getAttribute("href");
  if (!found.includes(wanted)) wrong.push(`the search for ${words} finds first ${found}`);
}
assert.deepEqual(wrong, []);
assert.deepEqual(outside, [], "nothing is loaded from elsewhere");
await close();
server.close();
console.log("six pages at two widths, light and dark: nothing to complain of");
