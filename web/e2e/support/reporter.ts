import type { Reporter, TestCase, TestResult } from "@playwright/test/reporter";

/** Ends with one line that says how many passed and failed. */
export default class Summary implements Reporter {
  #passed = 0;
  #failed = 0;

  onTestEnd(test: TestCase, result: TestResult) {
    if (result.status === "skipped") return;
    if (result.status === test.expectedStatus) this.#passed += 1;
    else this.#failed += 1;
  }

  onExit() {
    console.log(`${this.#passed} passed, ${this.#failed} failed`);
    return Promise.resolve();
  }
}
