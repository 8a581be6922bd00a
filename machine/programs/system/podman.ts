import type { ProgramMachine, MachineProgram } from '../machine-program.js'

/**
 * File with the images that the machine can pull, a line each: `REFERENCE [EXIT-CODE [OUTPUT]]`. Registries are not
 * simulated: no other image can be pulled.
 */
const REACHABLE = '/etc/containers/simulated-images'
/** Files with the pulled images and the finished runs, which last for one boot. */
const PULLED = '/run/containers/images'
const RAN = '/run/containers/runs'

/** podman's exit code for failures of its own instead of the container's (podman-run(1)). */
const PODMAN_FAILED = 125

const lines = ({ files }: ProgramMachine, path: string): string[] =>
  files.exists(path)
    ? Buffer.from(files.read(path))
        .toString()
        .split('\n')
        .filter((line) => line.trim() !== '')
    : []

const add = (inside: ProgramMachine, path: string, line: string): void =>
  inside.files.write(path, Buffer.from([...lines(inside, path), line].map((text) => `${text}\n`).join('')))

/** `docker://host/image:tag` and `host/image:tag` are the same. */
const withoutTransport = (reference: string) => reference.replace(/^[a-z]+:\/\//, '')

/** pull, run, images, ps, version: only their state is simulated, no container runs. */
export const podman: MachineProgram = (process) => Promise.resolve(runPodman(process))

function runPodman({ argv, inside, stdout, stderr }: Parameters<MachineProgram>[0]): number {
  const [, verb, ...words] = argv
  const failed = (message: string): number => {
    stderr(`Error: ${message}\n`)
    return PODMAN_FAILED
  }
  const known = (reference: string) => {
    const line = lines(inside, REACHABLE).find(
      (candidate) => withoutTransport(candidate.split(/\s+/)[0]!) === withoutTransport(reference),
    )
    const [, code = '0', ...output] = line?.split(/\s+/) ?? []
    return line === undefined ? undefined : { code: Number(code), output: output.join(' ') }
  }
  const pull = (reference: string): number => {
    if (!known(reference))
      return failed(
        `initializing source docker://${withoutTransport(reference)}: pinging container registry: the image is not known to this machine`,
      )
    if (!lines(inside, PULLED).includes(withoutTransport(reference))) add(inside, PULLED, withoutTransport(reference))
    return 0
  }
  switch (verb) {
    case 'version':
    case '--version':
      stdout('podman version 5.0.0\n')
      return 0
    case 'images':
      for (const image of lines(inside, PULLED)) stdout(`${image}\n`)
      return 0
    case 'ps':
      for (const line of lines(inside, RAN)) stdout(`${line}\n`)
      return 0
    case 'pull': {
      const reference = words.at(-1)
      if (reference === undefined || reference.startsWith('-')) return failed('requires at least 1 arg(s)')
      const code = pull(reference)
      if (code === 0) stdout(`${withoutTransport(reference)}\n`)
      return code
    }
    case 'run': {
      // Without podman's table of options their values look like images: take the first known image.
      const reference = words.find((word) => known(word)) ?? words.at(-1)
      if (reference === undefined) return failed('requires at least 1 arg(s)')
      const code = pull(reference)
      if (code !== 0) return code
      add(inside, RAN, words.join(' '))
      const { code: exit, output } = known(reference)!
      if (output !== '') stdout(`${output}\n`)
      return exit
    }
    default:
      return failed(`unrecognized command \`podman ${verb ?? ''}\``)
  }
}
