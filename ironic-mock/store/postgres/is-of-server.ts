/** True for a refusal of the server, and false for a connection that broke. */
export const isOfServer = (error: unknown): boolean => error instanceof Error && 'severity' in error
