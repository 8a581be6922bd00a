import { goArchitecture, referenceText } from '../../../base/registry/index.js'
import type { Process, ProgramMachine, MachineProgram } from '../machine-program.js'
import { runBootc } from './bootc/bootc.js'
import { ImageStorage, type StoredImage } from './image-storage.js'
import { PODMAN_FAILED, PodmanFailure } from './podman-failure.js'
import { podmanOptions, type PodmanOptions } from './podman-options.js'
import { imageReference, pullImage } from './pull-image.js'

/**
 * File with images that are there without a registry, a line each: `REFERENCE [EXIT-CODE [OUTPUT]]`. Their containers end
 * so.
 */
const SIMULATED = '/etc/containers/simulated-images'
/** Files with the pulled ones of these and the finished runs, which last for one boot. */
const PULLED = '/run/containers/images'
const RAN = '/run/containers/runs'

/** podman's exit code for a command that the container does not have (podman-run(1)). */
const COMMAND_NOT_FOUND = 127

/** pull, run, images, ps, version. Of what containers run, bootc alone is simulated. */
export const podman: MachineProgram = async (process) => {
  try {
    return await runPodman(process)
  } catch (error) {
    if (!(error instanceof PodmanFailure)) throw error
    process.stderr(`Error: ${error.message}\n`)
    return PODMAN_FAILED
  }
}

async function runPodman(process: Process): Promise<number> {
  const { argv, inside, stdout } = process
  const {
    words: [verb, ...rest],
  } = podmanOptions(argv.slice(1), 1)
  switch (verb) {
    case 'version':
    case undefined:
      if (verb === undefined && !argv.includes('--version') && !argv.includes('-v')) break
      stdout('podman version 5.0.0\n')
      return 0
    case 'images':
      for (const image of lines(inside, PULLED)) stdout(`${image}\n`)
      for (const { names } of new ImageStorage(inside.files).list()) for (const name of names) stdout(`${name}\n`)
      return 0
    case 'ps':
      for (const line of lines(inside, RAN)) stdout(`${line}\n`)
      return 0
    case 'pull':
      return pullVerb(process, rest)
    case 'run':
      return runVerb(process, rest)
  }
  throw new PodmanFailure(`unrecognized command \`podman ${verb ?? ''}\``)
}

async function pullVerb(process: Process, argv: readonly string[]): Promise<number> {
  const { inside, stdout } = process
  const options = podmanOptions(argv, 1)
  const [name] = options.words
  if (name === undefined) throw new PodmanFailure('requires at least 1 arg(s), only received 0')
  if (pulledWithoutRegistry(inside, name)) stdout(`${withoutTransport(name)}\n`)
  else stdout(`${(await pullImage(process, name, options)).id}\n`)
  return 0
}

async function runVerb(process: Process, argv: readonly string[]): Promise<number> {
  const { inside, stdout } = process
  const options = podmanOptions(argv, 1)
  const [name, ...command] = options.words
  if (name === undefined) throw new PodmanFailure('requires at least 1 arg(s), only received 0')
  const simulated = pulledWithoutRegistry(inside, name)
  if (simulated) {
    addLine(inside, RAN, argv.join(' '))
    if (simulated.output !== '') stdout(`${simulated.output}\n`)
    return simulated.code
  }
  const image = await imageToRun(process, name, options)
  addLine(inside, RAN, argv.join(' '))
  return runContainer(process, { image, options, command, name: referenceText(imageReference(name)) })
}

async function imageToRun(process: Process, name: string, options: PodmanOptions): Promise<StoredImage> {
  const storage = new ImageStorage(process.inside.files)
  const policy = options.value('--pull') ?? 'missing'
  const known = policy === 'always' ? undefined : storage.find(referenceText(imageReference(name)))
  if (known) return known
  if (policy === 'never') throw new PodmanFailure(`${withoutTransport(name)}: image not known`)
  return pullImage(process, name, options)
}

interface ContainerRun {
  image: StoredImage
  /** Name of the image, with its tag or digest. */
  name: string
  options: PodmanOptions
  command: readonly string[]
}

/** The programs of containers are not run, but for bootc; what an image does not have, cannot be run either. */
async function runContainer(process: Process, run: ContainerRun): Promise<number> {
  const { image, command } = run
  const [program] = command
  if (program === undefined) return 0
  const files = new ImageStorage(process.inside.files).files(image)
  const paths = program.startsWith('/')
    ? [program.slice(1)]
    : ['bin', 'sbin', 'usr/bin', 'usr/sbin', 'usr/local/bin'].map((folder) => `${folder}/${program}`)
  const isThere =
    files.left.paths > 0 && program !== 'bootc' ? true : files.nodes.some(({ path }) => paths.includes(path))
  if (!isThere) {
    process.stderr(
      `Error: crun: executable file \`${program}\` not found in $PATH: No such file or directory: OCI runtime attempted to invoke a command that was not found\n`,
    )
    return COMMAND_NOT_FOUND
  }
  const own = goArchitecture(process.inside.spec.architecture)
  if (image.architecture !== undefined && image.architecture !== own) {
    const platforms = `image platform (linux/${image.architecture}) does not match the expected platform (linux/${own})`
    process.stderr(`WARNING: ${platforms}\n{"msg":"exec container process \`${program}\`: Exec format error"}\n`)
    return 1
  }
  return program.split('/').at(-1) === 'bootc' ? runBootc(process, { ...run, files }) : 0
}

const lines = ({ files }: ProgramMachine, path: string): string[] =>
  files.exists(path)
    ? Buffer.from(files.read(path))
        .toString()
        .split('\n')
        .filter((line) => line.trim() !== '')
    : []

const addLine = (inside: ProgramMachine, path: string, line: string): void =>
  inside.files.write(path, Buffer.from([...lines(inside, path), line].map((text) => `${text}\n`).join('')))

/** `docker://host/image:tag` and `host/image:tag` are the same. */
const withoutTransport = (reference: string) => reference.replace(/^[a-z]+:\/\//, '')

/** How the container of a listed image ends; the image counts as pulled then. */
function pulledWithoutRegistry(inside: ProgramMachine, name: string): { code: number; output: string } | undefined {
  const reference = withoutTransport(name)
  const line = lines(inside, SIMULATED).find((one) => withoutTransport(one.split(/\s+/)[0]!) === reference)
  if (line === undefined) return undefined
  if (!lines(inside, PULLED).includes(reference)) addLine(inside, PULLED, reference)
  const [, code = '0', ...output] = line.split(/\s+/)
  return { code: Number(code), output: output.join(' ') }
}
