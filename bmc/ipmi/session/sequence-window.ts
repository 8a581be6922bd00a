/** Distance that a packet may be ahead of the latest, or behind it; IPMI 2.0, 'Session Sequence Number Tracking'. */
const MAX_SEQUENCE_AHEAD = 15
const MAX_SEQUENCE_BEHIND = 16

/** The sequence numbers of a session's packets: each counts once, and only near the latest. */
export class SequenceWindow {
  #latest = 0
  /** Numbers behind the latest that were seen, as bits. */
  #seen = 0

  /** Whether a packet is new; a repeated one and one from far away are not. */
  accepts(sequence: number): boolean {
    if (sequence === 0) return false
    const distance = (sequence - this.#latest) | 0
    if (distance > MAX_SEQUENCE_AHEAD || distance < -MAX_SEQUENCE_BEHIND) return false
    if (distance > 0) {
      this.#seen = ((this.#seen << distance) | (1 << (distance - 1))) & ((1 << MAX_SEQUENCE_BEHIND) - 1)
      this.#latest = sequence
      return true
    }
    if (distance === 0) return false
    const bit = 1 << (-distance - 1)
    if ((this.#seen & bit) !== 0) return false
    this.#seen |= bit
    return true
  }
}
