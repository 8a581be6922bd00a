/** Milliseconds since the epoch as Ironic's database writes them: UTC, microseconds, no offset. */
export const formatTimestamp = (at: number): string => `${new Date(at).toISOString().slice(0, -1)}000`

/** Reads what {@link formatTimestamp} wrote. */
export const parseTimestamp = (stamped: string): number => Date.parse(`${stamped.slice(0, 23)}Z`)
