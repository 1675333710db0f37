// Builds static/vendor (and axe for the tests) from the pinned packages: `npm ci && npm run build` in this folder.
// Each library gets a folder <name>-<version> with its licence; vendor.toml lists every file with its SHA-256.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..", "..");
const packages = join(here, "node_modules");
const versionOf = (name) => JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8")).version;

// name of the folder, package, licence, and its files: [from, to] in the package and the folder
const copied = [
  ["static/vendor", "htmx", "htmx.org", "0BSD", [["dist/htmx.min.js", "htmx.min.js"], ["LICENSE", "LICENSE"]]],
  ["tests/vendor", "axe", "axe-core", "MPL-2.0", [["axe.min.js", "axe.min.js"], ["LICENSE", "LICENSE"]]],
];

function copy([target, name, pack, licence, files]) {
  const folder = `${name}-${versionOf(pack)}`;
  mkdirSync(join(root, target, folder), { recursive: true });
  for (const [from, to] of files) cpSync(join(packages, pack, from), join(root, target, folder, to));
  return { target, folder, name, pack, version: versionOf(pack), licence, files: files.map(([, to]) => to) };
}

// style-mod writes its rules into a <style> element of the document, which a strict Content-Security-Policy refuses;
// it can use a constructed style sheet instead, but does so in shadow roots alone. Here it does everywhere.
const constructedStyles = {
  name: "constructed-styles",
  setup(build) {
    build.onLoad({ filter: /style-mod\/src\/style-mod\.js$/ }, (args) => {
      const source = readFileSync(args.path, "utf8");
      const contents = source.replace("if (!root.head && root.adoptedStyleSheets", "if (root.adoptedStyleSheets");
      if (contents === source) throw new Error("style-mod has changed: look at how it mounts its rules.");
      return { contents, loader: "js" };
    });
  },
};

async function bundleCodeMirror() {
  const folder = `codemirror-${versionOf("@codemirror/view")}`;
  mkdirSync(join(root, "static/vendor", folder), { recursive: true });
  await esbuild.build({
    entryPoints: [join(here, "codemirror.js")],
    outfile: join(root, "static/vendor", folder, "codemirror.min.js"),
    bundle: true, minify: true, format: "esm", target: "es2022", legalComments: "none",
    plugins: [constructedStyles],
  });
  cpSync(join(packages, "@codemirror/view/LICENSE"), join(root, "static/vendor", folder, "LICENSE"));
  return {
    target: "static/vendor", folder, name: "codemirror", pack: "@codemirror/view", version: versionOf("@codemirror/view"), licence: "MIT",
    files: ["codemirror.min.js", "LICENSE"],
  };
}

// d3 inside plotly sets `style` as an attribute, which a strict Content-Security-Policy refuses; as a property it may be set.
function patchedPlotly() {
  const pack = "plotly.js-cartesian-dist-min";
  const folder = `plotly-${versionOf(pack)}`;
  const source = readFileSync(join(packages, pack, "plotly-cartesian.min.js"), "utf8");
  const setsIt = "function L(){this.setAttribute(h,g)}";
  if (source.split(setsIt).length !== 2) throw new Error("plotly has changed: look at how its d3 sets attributes.");
  const contents = source.replace(setsIt, 'function L(){h==="style"?this.style.cssText=g:this.setAttribute(h,g)}');
  mkdirSync(join(root, "static/vendor", folder), { recursive: true });
  writeFileSync(join(root, "static/vendor", folder, "plotly-cartesian.min.js"), contents);
  cpSync(join(packages, pack, "LICENSE"), join(root, "static/vendor", folder, "LICENSE"));
  return {
    target: "static/vendor", folder, name: "plotly", pack, version: versionOf(pack), licence: "MIT",
    files: ["plotly-cartesian.min.js", "LICENSE"],
  };
}

const hashOf = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");

function manifest(entries) {
  return entries.map(({ target, folder, name, pack, version, licence, files }) => [
    `[${name}]`,
    `package = "${pack}"`,
    `version = "${version}"`,
    `licence = "${licence}"`,
    `folder = "${target}/${folder}"`,
    `[${name}.sha256]`,
    ...files.map((file) => `"${file}" = "${hashOf(join(root, target, folder, file))}"`),
  ]);
}

rmSync(join(root, "static/vendor"), { recursive: true, force: true });
rmSync(join(root, "tests/vendor"), { recursive: true, force: true });
const entries = [...copied.map(copy), await bundleCodeMirror(), patchedPlotly()];
const head = "# Written by evalstudio/web/vendoring/build.mjs: what is vendored, from which package, and the SHA-256 of each file.\n";
const body = manifest(entries).map((lines) => lines.join("\n")).join("\n\n");
writeFileSync(join(root, "static/vendor/vendor.toml"), `${head}\n${body}\n`);
