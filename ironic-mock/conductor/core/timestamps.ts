/** Milliseconds since the epoch as Ironic's database writes them: UTC, microseconds, no offset. */
export const stamp = (at: number): string => `${new Date(at).toISOString().slice(0, -1)}000`

/** Reads what {@link stamp} wrote. */
export const millis = (stamped: string): number => Date.parse(`${stamped.slice(0, 23)}Z`)
