// What scrolls can be reached by the keyboard, and both sidebars have a name.
addEventListener("DOMContentLoaded", () => {
  for (const area of document.querySelectorAll("pre, .table-wrapper")) area.tabIndex = 0;
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "This page");
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
