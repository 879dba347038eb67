// The live page: replaces each element that has changed by what /events sends, and keeps what the reader has
// opened, scrolled to and focused.
//
//     event: fragment          the name on the first line, its HTML on the others
//     event: current           what was sent until now is complete; the data is what is wrong, or empty
//     event: reload            the store is another one
"use strict";
(() => {
  const link = document.getElementById("link");
  const waiting = new Map(); // fragments that are not replaced while their text is selected

  const say = (text) => {
    if (link.textContent !== text) link.textContent = text;
  };

  const selected = (element) => {
    const s = document.getSelection();
    return s && !s.isCollapsed && s.rangeCount > 0 && s.getRangeAt(0).intersectsNode(element);
  };

  const focusable = (element) => [...element.querySelectorAll("a, summary, [tabindex]")];

  const keep = (before, after) => {
    for (const d of after.querySelectorAll("details[id]")) {
      const same = before.querySelector("#" + CSS.escape(d.id));
      if (same) d.open = same.open;
    }
    const scrolled = [...before.querySelectorAll(".scroll, pre")].map((e) => [e.scrollLeft, e.scrollTop]);
    const focus = focusable(before).indexOf(document.activeElement);
    before.replaceWith(after);
    after.querySelectorAll(".scroll, pre").forEach((e, i) => {
      if (scrolled[i]) [e.scrollLeft, e.scrollTop] = scrolled[i];
    });
    if (focus >= 0) focusable(after)[focus]?.focus({ preventScroll: true });
  };

  const replace = (name, html) => {
    const before = document.getElementById(name);
    if (before && selected(before)) {
      waiting.set(name, html);
      return;
    }
    const template = document.createElement("template");
    template.innerHTML = html;
    const after = template.content.firstElementChild;
    if (!after) return;
    if (!before) document.getElementById("agents").before(after);
    else if (before.hasAttribute("aria-live")) before.replaceChildren(...after.childNodes);
    else keep(before, after);
  };

  document.addEventListener("selectionchange", () => {
    for (const [name, html] of waiting) {
      const element = document.getElementById(name);
      if (element && selected(element)) continue;
      waiting.delete(name);
      replace(name, html);
    }
  });

  if (location.search) history.replaceState(null, "", location.pathname + location.hash);
  const source = new EventSource("/events?since=" + document.body.dataset.since);
  source.addEventListener("open", () => say("Live."));
  source.addEventListener("error", () => {
    say(source.readyState === EventSource.CLOSED ? "Not connected: load the page again." : "Not connected; trying again.");
  });
  source.addEventListener("fragment", (e) => {
    const end = e.data.indexOf("\n");
    const name = e.data.slice(0, end);
    waiting.delete(name);
    replace(name, e.data.slice(end + 1));
  });
  source.addEventListener("current", (e) => say(e.data ? "Not up to date: " + e.data : "Live."));
  source.addEventListener("reload", () => location.reload());
})();
