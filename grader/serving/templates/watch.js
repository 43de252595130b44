// A part of a page that waits for something asks again, and shows what has changed. Once nothing waits, the page is read again.
const part = document.querySelector("[data-again]");

async function again() {
  const answer = await fetch(part.dataset.from || location.href).catch(() => null);
  if (answer?.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const now = page.querySelector("[data-again]");
    if (!now) return location.reload();
    if (part.innerHTML !== now.innerHTML) part.replaceChildren(...now.childNodes);
    part.dataset.again = now.dataset.again;
  }
  setTimeout(again, 1000 * part.dataset.again);
}

if (part) setTimeout(again, 1000 * part.dataset.again);
