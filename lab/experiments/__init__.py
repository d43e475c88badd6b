"""The papers' experiments, one script each; they print what they find and keep it in results/."""
