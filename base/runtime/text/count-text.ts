/** A number with its noun: `1 host`, `3 hosts`, `2 wishes` with the ending `es`. */
export const countText = (number: number, noun: string, ending = 's'): string =>
  `${number} ${noun}${number === 1 ? '' : ending}`
