// What scrolls can be reached by the keyboard, and both sidebars have a name.
addEventListener("DOMContentLoaded", () => {
  for (const area of document.querySelectorAll("pre, .table-wrapper")) area.tabIndex = 0;
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "This page");
});

// On a narrow screen the cells of wide tables stand below each other, and each has the name of its column.
addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll(".table-wrapper table")) {
    const names = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.trim());
    if (names.length < 4 || table.querySelector("[colspan], [rowspan]")) continue;
    table.classList.add("stacked");
    for (const [part, role] of Object.entries({ table: "table", tbody: "rowgroup", tr: "row", td: "cell" }))
      for (const each of part === "table" ? [table] : table.querySelectorAll(part)) each.setAttribute("role", role);
    for (const row of table.querySelectorAll("tbody tr")) [...row.cells].forEach((cell, i) => { cell.dataset.label = names[i] ?? ""; });
  }
});

// The slider of the first page shows the position that the reader chooses.
addEventListener("DOMContentLoaded", () => {
  for (const form of document.querySelectorAll("form.slider")) {
    const positions = JSON.parse(form.dataset.positions), range = form.querySelector("input");
    const show = () => {
      for (const [name, text] of Object.entries(positions[range.value])) form.elements[name].value = text;
      range.setAttribute("aria-valuetext", `epsilon ${positions[range.value].epsilon}`);
    };
    range.addEventListener("input", show);
    show();
  }
});
