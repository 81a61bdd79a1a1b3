// The pages work without this; it spares some presses of keys.
(function () {
  "use strict";
  function typing(target) {
    return /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable;
  }
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) { return; }
    var rows = Array.prototype.slice.call(document.querySelectorAll(".rows .c-who a"));
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
  // A list stays up to date until somebody pauses it; nothing moves under a hand that is in it.
  var parts = document.querySelectorAll("[data-live]");
  var live = document.getElementById("live");
  if (parts.length && live) {
    var isOn = function () { return localStorage.getItem("live") !== "off"; };
    var show = function () { live.setAttribute("aria-pressed", String(isOn())); };
    live.hidden = false;
    show();
    live.addEventListener("click", function () { localStorage.setItem("live", isOn() ? "off" : "on"); show(); });
    var busy = function () {
      return document.hidden || !getSelection().isCollapsed ||
        Array.prototype.some.call(parts, function (part) {
          return part.contains(document.activeElement) || part.querySelector("tr:hover, .cause:hover");
        });
    };
    var put = function (text) {
      var fresh = new DOMParser().parseFromString(text, "text/html").querySelectorAll("[data-live]");
      if (fresh.length !== parts.length || busy() || !isOn()) { return; }
      parts.forEach(function (part, at) { part.replaceChildren.apply(part, Array.from(fresh[at].childNodes)); });
    };
    setInterval(function () {
      if (!isOn() || busy()) { return; }
      fetch(location.href, {headers: {"Intake-Live": "1"}, redirect: "error"})
        .then(function (answer) { return answer.ok ? answer.text() : ""; })
        .then(put, function () {});
    }, Number(parts[0].dataset.live) * 1000);
  }
})();
