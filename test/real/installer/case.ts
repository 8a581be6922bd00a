import { DISK } from '../coreos-installer.js'
import type { DiskBefore } from './disks.js'
import { HOST } from './server.js'

/** A command line of coreos-installer and the disk that it is for. `@` in an argument is the folder of images and configs. */
export interface Case {
  args: string[]
  disk?: DiskBefore
  /** True if its output is a terminal. */
  tty?: boolean
  /** Files of the folder that this case needs. */
  files?: Record<string, string>
  /** Upstream's behaviour, of a row of docs/fidelity/, that explains a difference on the disk. */
  explained?: string
}

/** The image of most cases. */
export const M = ['-f', '@/m.raw.xz', '--insecure']
export const image = (name: string) => ['-f', `@/${name}`, '--insecure']
export const from = (behaviour: string, name = 'm.raw.xz') => ['-u', `${HOST}/${behaviour}/${name}`, '--insecure']
export const install = (...args: string[]): Case => ({ args: ['install', DISK, ...args] })
export const on = (disk: DiskBefore, ...args: string[]): Case => ({ ...install(...args), disk })
export const config = (text: string, ...args: string[]): Case => ({
  args: ['install', '-c', '@/options.yaml', ...args],
  files: { 'options.yaml': text },
})
