/** A question about a driver, the answer to which upstream's API keeps. */
export type DriverQuestion = 'properties' | 'vendor methods' | 'vendor methods of nodes' | 'RAID'

/**
 * Questions that a conductor has answered: from then on the API answers them by itself, also when no conductor is left
 * (ironic 39.0.0 api/controllers/v1/driver.py and node.py, `_DRIVER_PROPERTIES`, `_VENDOR_METHODS`, `_RAID_PROPERTIES`).
 */
export class AnsweredQuestions {
  readonly #answered = new Set<string>()

  /** @param check throws where no conductor would answer */
  ask(question: DriverQuestion, driver: string, check: () => void): void {
    const key = `${question} ${driver}`
    if (this.#answered.has(key)) return
    check()
    this.#answered.add(key)
  }
}
