/**
 * Milliseconds after which a real peer counts as hung. Lanes share two processors, and computers differ in speed by two:
 * what takes seconds alone takes minutes there.
 */
export const REAL_PEER_TIMEOUT = 300_000
