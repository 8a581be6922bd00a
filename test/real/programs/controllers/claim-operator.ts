import { fileURLToPath } from 'node:url'
import { goPeer } from '../../go-peer.js'

const FOLDER = fileURLToPath(new URL('./claim-operator', import.meta.url))

/** A controller of our own on the real controller-runtime, built the first time. */
export const claimOperatorProgram = (): Promise<string> => goPeer(FOLDER, { flags: ['-trimpath'] })
