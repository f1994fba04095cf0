// Sentences with names in them. A name may contain anything, so it is isolated from the text around it.

// Show a sentence. A part is a text, or {name}: a function that returns a name.
export function fill(place, ...parts) {
  place.replaceChildren(...parts.map((part) => (typeof part === "string" ? part : named(part.name()))));
}

// The parts of a sentence that says why a player waits: {cause, name, alike}, as the live state has it.
export function whyParts({ cause, name, alike }) {
  const named = (text) => ({ name: () => text });
  if (cause === "alone") return ["nobody else is at the table"];
  if (cause === "namesake") return ["two players called ", named(name), " never meet"];
  return ["wishes for ", named(name), ", who is not here", ...(alike === null ? [] : ["; ", named(alike), " is"])];
}

function named(name) {
  const element = document.createElement("bdi");
  element.textContent = name;
  element.title = name;
  return element;
}
