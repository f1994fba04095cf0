// Reads from the server. It may be away for a moment, also while it answers.

/**
 * Return the text at an address, or null if the server cannot be reached, breaks off its answer or refuses.
 * @param {string} address
 * @param {RequestInit} [options]
 */
export async function readText(address, options) {
  try {
    const answer = await fetch(address, options);
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
}

/**
 * Return the status of an answer and the JSON value in it, which may say what is wrong; or null if there is none.
 * @param {string} address
 * @param {RequestInit} [options]
 * @returns {Promise<{ status: number, body: any } | null>}
 */
export async function readAnswer(address, options) {
  try {
    const answer = await fetch(address, options);
    return { status: answer.status, body: await answer.json() };
  } catch {
    return null;
  }
}

/**
 * Return the JSON value at an address, or null as `readText` does.
 * @param {string} address
 * @returns {Promise<any>}
 */
export async function readJson(address) {
  const text = await readText(address);
  return text === null ? null : JSON.parse(text);
}

/** Reads something again and again while the page is visible, one reading after the other. */
export class Poll {
  #read;
  #pause;
  #isReading = false;
  /** @type {number | undefined} The pause after the reading that is under way, if it was set meanwhile. */
  #next;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #due;

  /**
   * @param {() => Promise<void>} read
   * @param {() => number} pause returns the milliseconds until the next reading
   */
  constructor(read, pause) {
    this.#read = read;
    this.#pause = pause;
    document.addEventListener("visibilitychange", () => this.after(0));
    this.after(pause());
  }

  /**
   * Read after `pause` milliseconds, not when it would be due.
   * @param {number} pause
   */
  after(pause) {
    clearTimeout(this.#due);
    if (this.#isReading) this.#next = pause;
    else this.#due = setTimeout(() => this.#turn(), pause);
  }

  async #turn() {
    if (document.hidden) return;
    this.#isReading = true;
    try {
      await this.#read();
    } finally {
      this.#isReading = false;
      this.after(this.#next ?? this.#pause());
      this.#next = undefined;
    }
  }
}
