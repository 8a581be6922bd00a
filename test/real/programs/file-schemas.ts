import { fileURLToPath } from 'node:url'
import { pythonPeer } from '../peers.js'

/** A virtual environment with programs that hold files against the schemas of Compose, GitHub, GitLab and Kubernetes. */
export const schemaCheckers = (): Promise<string> =>
  pythonPeer(fileURLToPath(new URL('../peers/file-schemas.txt', import.meta.url)))
