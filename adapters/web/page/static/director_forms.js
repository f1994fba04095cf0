// The acts of the director: sends them, and asks in place for what an act needs, such as the reason.
import { partsOf } from "./director_state.js";
import { create, fill, isolated } from "./dom.js";
import { enumerated, plural, sentence } from "./format.js";
import { announce } from "./status.js";
import { readStorage, writeStorage } from "./storage.js";

/**
 * An act and its parameters, as the server takes them.
 * @typedef {import("./dom.js").Part} Part
 * @typedef {{ act: string, parameters?: Record<string, string> }} Act
 * @typedef {{ status: number, body: any } | null} Reply null if there is none
 */

const NAME = "director"; // the key of the person's name in localStorage
const UNKNOWN = "The server did not answer. Look into the log whether it was done before you try again.";
export const NAMELESS = "The log needs your name.";
const CHANGED = "Meanwhile a game has ended. See what follows now, and send it again if it is right.";

/**
 * Create an element with classes and content.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} classes
 * @param {...(Node | Part)} content
 */
export function make(tag, classes, ...content) {
  const element = create(tag);
  element.className = classes;
  for (const each of content) {
    element.append(typeof each === "string" || each instanceof Node ? each : isolated(each.name));
  }
  return element;
}

/**
 * Create a button.
 * @param {string} classes
 * @param {Part[]} words
 * @param {(button: HTMLButtonElement) => void} press
 */
export function button(classes, words, press) {
  const element = make("button", classes, ...words);
  element.type = "button";
  element.addEventListener("click", () => press(element));
  return element;
}

/**
 * Create a field with its label.
 * @param {string} label
 * @param {HTMLInputElement | HTMLSelectElement} field
 */
export function labelled(label, field) {
  return make("label", "asked", make("span", "", label), field);
}

/**
 * Create a list to choose from. Names in a label are isolated by signs, because it can have no elements.
 * @param {{ value: string, words: Part[] }[]} choices
 * @param {string} [chosen]
 */
export function choice(choices, chosen) {
  const field = create("select");
  for (const { value, words } of choices) field.append(new Option(plain(words), value));
  if (chosen !== undefined) field.value = chosen;
  return field;
}

/**
 * Create a list of names to choose from.
 * @param {string[]} names
 * @param {string} [chosen]
 */
export function choiceOf(names, chosen) {
  return choice(
    names.map((name) => ({ value: name, words: name ? [{ name }] : ["nobody"] })),
    chosen,
  );
}

/** @param {Part[]} parts */
export function plain(parts) {
  return parts.map((part) => (typeof part === "string" ? part : `\u2068${part.name}\u2069`)).join("");
}

/**
 * Return names as part of a sentence.
 * @param {string[]} names
 * @returns {Part[]}
 */
export function listed(names) {
  if (names.length > 3) return [plural(names.length, "player")];
  return enumerated(names.map((name) => ({ name })));
}

/**
 * Show a sentence unless it is shown, so that a text that is selected stays so.
 * @param {Element} place
 * @param {Part[]} parts
 */
export function renew(place, parts) {
  const text = parts.map((part) => (typeof part === "string" ? part : part.name)).join("");
  if (place.textContent !== text) fill(place, ...parts);
}

/** Sends acts, one at a time, in the name of a person. */
export class Acts {
  /** The person's name; empty while it is not known. */
  by = readStorage(NAME) ?? "";
  #isBusy = false;

  /**
   * @param {(act: string, parameters: Record<string, string>) => Promise<Reply>} post
   * @param {() => Promise<void>} read reads the state of the tournament again: before acts that depend on results, and
   *   after acts, whether the server has carried them out or not
   * @param {() => string[]} names the players, whose names are isolated in what the server says
   */
  constructor(post, read, names) {
    this.post = post;
    this.read = read;
    this.names = names;
  }

  /** @param {string} name */
  sign(name) {
    this.by = name;
    writeStorage(NAME, name);
  }

  /**
   * Send acts in their order, up to the first one that fails. Nothing is sent while other acts are on their way.
   * @param {Act[]} acts
   * @param {string} [why]
   * @returns {Promise<{ done: number, trouble: string | null }>} how many were carried out, and what went wrong
   */
  async send(acts, why = "") {
    if (this.#isBusy) return { done: 0, trouble: "" };
    this.#isBusy = true;
    let done = 0;
    try {
      for (const { act, parameters } of acts) {
        const reply = await this.post(act, { ...parameters, by: this.by, why });
        if (reply?.status !== 200) return { done, trouble: sentence(reply?.body.error ?? UNKNOWN) };
        done += 1;
        announce(`${reply.body.done}.`);
      }
      return { done, trouble: null };
    } finally {
      this.#isBusy = false;
      this.read();
    }
  }
}

/**
 * What is asked before an act.
 * @typedef {object} Question
 * @property {Part[]} title
 * @property {HTMLElement[]} [fields]
 * @property {() => Part[]} [follows] what follows from the act, as the fields are
 * @property {() => Part[]} words the words of the button that sends
 * @property {() => void} [follow] renews the fields when the tournament has gone on
 * @property {() => string | null} [replaced] the results that the act replaces, which must not change unseen
 * @property {boolean} [isBad] whether the act cannot be taken back easily
 * @property {boolean} [asksWhy]
 * @property {() => Act[] | string} acts the acts to send, or what is missing
 */

let count = 0; // forms so far

/** A place of the page where acts ask, and say what went wrong. */
export class Place {
  #trouble = create("p", { className: "trouble", role: "alert" });
  #slot = create("div");
  /** @type {HTMLElement | null} The button that has opened the form. */
  #opener = null;
  /** Renews the form that is open, when the tournament has gone on. */
  renew = () => {};

  /**
   * @param {HTMLElement} element
   * @param {Acts} acts
   */
  constructor(element, acts) {
    this.element = element;
    this.acts = acts;
    element.append(this.#slot, this.#trouble);
    element.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
    });
  }

  get isOpen() {
    return this.#opener !== null;
  }

  /**
   * Carry out an act that asks nothing but the person's name.
   * @param {HTMLElement} opener
   * @param {string} words
   * @param {Act} act
   */
  async act(opener, words, act) {
    if (!this.acts.by) return this.ask(opener, { title: [words], words: () => [words], acts: () => [act] });
    opener.ariaDisabled = "true";
    const { trouble } = await this.acts.send([act]);
    opener.ariaDisabled = null;
    this.complain(trouble ?? "");
  }

  /**
   * Open a form, or close it if this button has opened it.
   * @param {HTMLElement} opener
   * @param {Question} question
   */
  ask(opener, question) {
    const isSame = this.#opener === opener;
    this.close();
    if (isSame) return;
    this.#opener = opener;
    opener.ariaExpanded = "true";
    const form = this.#formOf(question);
    this.#slot.replaceChildren(form);
    /** @type {HTMLElement | null} */ (form.querySelector("input, select, button"))?.focus();
    form.scrollIntoView({ block: "nearest" });
  }

  close() {
    const opener = this.#opener;
    const hadFocus = this.element.contains(document.activeElement);
    this.#opener = null;
    this.renew = () => {};
    this.#slot.replaceChildren();
    this.complain("");
    if (opener) opener.ariaExpanded = null;
    if (hadFocus) opener?.focus();
  }

  /** @param {string} trouble */
  complain(trouble) {
    fill(this.#trouble, ...partsOf(trouble, this.acts.names()));
  }

  /** @param {Question} question */
  #formOf({ title, fields = [], follows, words, isBad, asksWhy, acts, follow, replaced = () => null }) {
    const heading = make("p", "asks-what", ...title);
    heading.id = `asks-${++count}`;
    const who = create("input", { name: "by", maxLength: 64, autocomplete: "name" });
    const why = create("input", { name: "why", maxLength: 200, autocomplete: "off" });
    const asked = [...fields];
    if (!this.acts.by) asked.push(labelled("Your name, for the log", who));
    if (asksWhy) asked.push(labelled("Why, for the log", why));
    const after = make("p", "follows");
    const send = make("button", `button ${isBad ? "bad" : "primary"}`);
    const cancel = button("button", ["Cancel"], () => this.close());
    const form = make("form", "asks", heading, make("div", "fields", ...asked), after);
    form.append(make("div", "ends", send, cancel));
    form.setAttribute("aria-labelledby", heading.id);
    const show = () => {
      renew(after, follows?.() ?? []);
      renew(send, words());
    };
    show();
    form.addEventListener("input", show);
    this.renew = () => {
      const before = replaced();
      follow?.();
      show();
      if (replaced() !== before) announce(`${after.textContent}`);
    };
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (send.ariaDisabled) return;
      const by = this.acts.by || who.value.trim();
      const made = by ? acts() : NAMELESS;
      if (typeof made === "string") return this.complain(made);
      if (!this.acts.by) this.acts.sign(by);
      this.complain("");
      send.ariaDisabled = "true";
      const before = replaced();
      if (before !== null) await this.acts.read();
      if (replaced() !== before) {
        send.ariaDisabled = null;
        return this.complain(CHANGED);
      }
      const { done, trouble } = await this.acts.send(made, why.value.trim());
      send.ariaDisabled = null;
      if (!form.isConnected) return; // closed meanwhile
      if (done || trouble === null) this.close(); // if only some were carried out, the others are to be chosen again
      this.complain(trouble ?? "");
    });
    return form;
  }
}
