// Runs the library in a worker. Messages in: {start: parts} once, then {id, words}.
// Messages out: {loaded: fraction}, {ready: seconds}, {id, code, out, error, statement, seconds}.
let run, loading;
const types = { js: "text/javascript", wasm: "application/wasm", zip: "application/zip" };

async function unpacked(part) {
  if (!part.zipped) return part.bytes;
  const stream = new Blob([part.bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const address = (bytes, kind) => URL.createObjectURL(new Blob([bytes], { type: types[kind] }));

// A page from a file may start no module worker from its own text, and Pyodide refuses others, which
// it knows by this function; nothing here needs it.
self.importScripts = undefined;

async function load(parts) {
  const begun = performance.now();
  const [loader, glue, wasm] = await Promise.all([parts.loader, parts.glue, parts.wasm].map(unpacked));
  postMessage({ loaded: 0.3 });
  const { loadPyodide } = await import(address(loader, "js"));
  const { default: createPyodideModule } = await import(address(glue, "js"));
  // the loader asks for files by their names beside the page; they are in the page
  const plain = self.fetch.bind(self);
  const wasmAddress = address(wasm, "wasm");
  self.fetch = (name, ...more) => plain(String(name).endsWith("pyodide.asm.wasm") ? wasmAddress : name, ...more);
  const python = await loadPyodide({
    indexURL: "blob:exactdp/", createPyodideModule, lockFileContents: new TextDecoder().decode(await unpacked(parts.lock)),
    stdLibURL: address(await unpacked(parts.stdlib), "zip"),
  });
  postMessage({ loaded: 0.7 });
  python.unpackArchive(await unpacked(parts.packages), "wheel");
  postMessage({ loaded: 0.8 });
  python.runPython(new TextDecoder().decode(await unpacked(parts.engine)));
  run = python.globals.get("run");
  postMessage({ ready: (performance.now() - begun) / 1000 });
}

self.onmessage = async ({ data }) => {
  try {
    if (data.start) return await (loading = load(data.start));
    await loading;
    const begun = performance.now();
    const answer = JSON.parse(run(JSON.stringify(data.words)));
    postMessage({ id: data.id, ...answer, seconds: (performance.now() - begun) / 1000 });
  } catch (error) {
    postMessage({ id: data.id, failed: String(error) });
  }
};
