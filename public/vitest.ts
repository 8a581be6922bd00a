/// <reference types="node" preserve="true" />
/** `ironstage/vitest`: a lab as a fixture of Vitest. */
export { ironstage, type IronstageFixtures, type IronstageOptions } from './vitest/fixture.js'
