// The Gaussian mechanism's delta as one writes it down (Balle and Wang, Theorem 8), in doubles.
// It loses all digits where both terms agree: check.mjs shows which vectors catch that.

/** erfc by its continued fraction for large x, by the series of erf for small x. */
function erfc(x) {
  if (x < 0) return 2 - erfc(-x);
  if (x < 2) {
    let term = x, sum = x;
    for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n += 1) {
      term *= (-x * x * (2 * n - 1)) / (n * (2 * n + 1));
      sum += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * sum;
  }
  let tail = 0;
  for (let n = 120; n > 0; n -= 1) tail = n / 2 / (x + tail);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + tail);
}

const cdf = (x) => erfc(-x / Math.SQRT2) / 2;

export function delta({ epsilon, sigma, sensitivity }) {
  const e = Number(epsilon), s = Number(sigma) / Number(sensitivity);
  const found = cdf(1 / (2 * s) - e * s) - Math.exp(e) * cdf(-1 / (2 * s) - e * s);
  return Number.isFinite(found) ? Math.max(found, 0) : undefined;
}
