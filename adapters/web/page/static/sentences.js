// Sentences with names in them. A name may be anything: it stands by itself, so that it cannot turn the text around it.

// Let a place hold a sentence. Its parts are texts, or {name}, a function that returns one.
export function fill(place, ...parts) {
  place.replaceChildren(...parts.map((part) => (typeof part === "string" ? part : named(part.name()))));
}

function named(name) {
  const element = document.createElement("bdi");
  element.textContent = name;
  element.title = name;
  return element;
}
