// Sentences with names in them. A name may contain anything, so it is isolated from the text around it.

// Show a sentence. A part is a text, or {name}: a function that returns a name.
export function fill(place, ...parts) {
  place.replaceChildren(...parts.map((part) => (typeof part === "string" ? part : named(part.name()))));
}

function named(name) {
  const element = document.createElement("bdi");
  element.textContent = name;
  element.title = name;
  return element;
}
