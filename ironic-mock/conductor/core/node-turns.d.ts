import { type Clock } from '../../../runtime/index.js';
/**
 * Whose turn it is to change a node, in the order in which they came. Of many writers that try again at once only one wins each
 * time, and who comes first may lose for ever: of fifty clients that changed five nodes without a pause, ten had no answer
 * within half a minute.
 */
export declare class NodeTurns {
    #private;
    private readonly clock;
    constructor(clock: Clock);
    isTaken(node: string): boolean;
    /** A promise only where somebody has the turn: a change that meets no other is made at once. */
    take(node: string): Promise<void> | undefined;
    release(node: string): void;
}
