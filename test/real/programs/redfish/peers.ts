import { fileURLToPath } from 'node:url'
import { goPeer } from '../../go-peer.js'
import { pythonPeer } from '../../peers.js'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** A virtual environment with DMTF's clients and its protocol validator. */
export const dmtfClients = (): Promise<string> => pythonPeer(at('../../peers/redfish-clients.txt'))

/** The program in `gofish/`. */
export const gofishProgram = (): Promise<string> => goPeer(at('./gofish'), { flags: ['-trimpath'] })
