/** Types of node-pty as used here: node-pty is optional, and its own types are missing where it could not be built. */
declare module 'node-pty' {
  export interface Terminal {
    onData(listener: (text: string) => void): void
    onExit(listener: (end: { exitCode: number; signal?: number }) => void): void
    kill(signal?: string): void
  }
  export function spawn(
    program: string,
    args: readonly string[],
    options: { name: string; cols: number; rows: number; cwd: string },
  ): Terminal
}
