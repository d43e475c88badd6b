"""The calculator of the site: one HTML file with the library in WebAssembly."""
