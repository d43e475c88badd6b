// node compile.mjs FOLDER: packages.zip and python_stdlib.zip -> compiled.zip and stdlib.zip, with
// bytecode in the place of source text, compiled by the Python that will run it.
import fs from "node:fs";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${folder}/` });
for (const [source, target] of [["packages.zip", "compiled.zip"], ["python_stdlib.zip", "stdlib.zip"]]) {
  python.FS.writeFile("/source.zip", fs.readFileSync(`${folder}/${source}`));
  python.runPython(`
import importlib._bootstrap_external as bootstrap, zipfile
with zipfile.ZipFile("/source.zip") as given, zipfile.ZipFile("/compiled.zip", "w", zipfile.ZIP_DEFLATED) as made:
    for name in given.namelist():
        data = given.read(name)
        if name.endswith(".py") and "/checker/" not in name:
            code = compile(data, name, "exec", dont_inherit=True, optimize=0)
            made.writestr(name + "c", bytes(bootstrap._code_to_hash_pyc(code, b"exactdp!", False)))
        else:
            made.writestr(name, data)
`);
  fs.writeFileSync(`${folder}/${target}`, python.FS.readFile("/compiled.zip"));
}
process.exit(0);
