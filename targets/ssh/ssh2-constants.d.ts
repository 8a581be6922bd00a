/** Algorithms of ssh2; its types leave this file out. */
declare module 'ssh2/lib/protocol/constants.js' {
  const constants: Readonly<
    Record<
      | `DEFAULT_${'KEX' | 'SERVER_HOST_KEY' | 'CIPHER' | 'MAC'}`
      | `SUPPORTED_${'KEX' | 'SERVER_HOST_KEY' | 'CIPHER' | 'MAC'}`,
      readonly string[]
    >
  >
  export default constants
}
