// The pages work without this; it spares some presses of keys.
(function () {
  "use strict";
  var rows = Array.prototype.slice.call(document.querySelectorAll(".rows .c-who a"));
  function typing(target) {
    return /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable;
  }
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) { return; }
    var at = rows.indexOf(document.activeElement);
    if (event.key === "j" && rows.length) { rows[Math.min(at + 1, rows.length - 1)].focus(); }
    if (event.key === "k" && rows.length) { rows[Math.max(at - 1, 0)].focus(); }
    if (event.key === "/") {
      var find = document.getElementById("find");
      if (find) { event.preventDefault(); find.focus(); find.select(); }
    }
  });
  // A filter that is chosen is meant.
  document.querySelectorAll(".filters select").forEach(function (select) {
    select.addEventListener("change", function () { select.form.requestSubmit(); });
  });
  // What waits for the CRM goes on by itself, a few times.
  var again = document.querySelector("form[data-again]");
  if (again) {
    var tries = Number(sessionStorage.getItem("again") || 0);
    if (tries < 10) {
      sessionStorage.setItem("again", String(tries + 1));
      setTimeout(function () { again.requestSubmit(); }, Number(again.dataset.again) * 1000);
    }
  } else {
    sessionStorage.removeItem("again");
  }
})();
