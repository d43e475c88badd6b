// Headless Chromium, and what axe finds wrong with a page.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function browser() {
  const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
  const started = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const context = await started.newContext({ viewport: { width: 1280, height: 900 }, bypassCSP: true });
  return { context, close: () => started.close() };
}

export async function problems(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.target).slice(0, 3).join(" ")}`);
}
