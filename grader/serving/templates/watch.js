// A page that waits for something asks for itself again, and shows what has changed.
const main = document.querySelector("main[data-again]");

async function again() {
  const isUsed = main.contains(document.activeElement) && main.querySelector("input"); // somebody is typing
  let seconds = main.dataset.again;
  const answer = isUsed ? null : await fetch(location.href).catch(() => null);
  if (answer?.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
    main.replaceChildren(...page.childNodes);
    seconds = page.dataset.again;
  }
  if (seconds) setTimeout(again, 1000 * seconds);
}

if (main) setTimeout(again, 1000 * main.dataset.again);
