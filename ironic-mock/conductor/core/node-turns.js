import { held } from '../../../runtime/index.js';
/**
 * Whose turn it is to change a node, in the order in which they came. Of many writers that try again at once only one wins each
 * time, and who comes first may lose for ever: of fifty clients that changed five nodes without a pause, ten had no answer
 * within half a minute.
 */
export class NodeTurns {
    clock;
    /** Those who wait, of each node that somebody has. */
    #waiting = new Map();
    constructor(clock) {
        this.clock = clock;
    }
    isTaken(node) {
        return this.#waiting.has(node);
    }
    /** A promise only where somebody has the turn: a change that meets no other is made at once. */
    take(node) {
        const waiting = this.#waiting.get(node);
        if (!waiting) {
            this.#waiting.set(node, []);
            return undefined;
        }
        return held(this.clock, 'waiting for another change of a node', () => {
            return new Promise((resolve) => void waiting.push(resolve));
        });
    }
    release(node) {
        const next = this.#waiting.get(node)?.shift();
        if (next)
            next();
        else
            this.#waiting.delete(node);
    }
}
