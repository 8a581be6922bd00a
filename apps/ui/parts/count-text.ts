/** A number with its noun: `1 machine`, `3 machines`. */
export const countText = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
