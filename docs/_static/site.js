// What scrolls can be reached by the keyboard, and both sidebars have a name.
addEventListener("DOMContentLoaded", () => {
  for (const area of document.querySelectorAll("pre, .table-wrapper")) area.tabIndex = 0;
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "This page");
});
