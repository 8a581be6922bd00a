import { bytesSource, openFileSource } from '../../../base/bytes/index.js'
import {
  customizePxe,
  type InitramfsFiles,
  IGNITION_FILE,
  keyfileFiles,
  keyfilesAt,
  keyfilesIn,
  LiveImageError,
  liveIpxeScript,
  liveKernelArguments,
  type LivePxe,
  pxeAppendParams,
  readInitramfs,
  wrapFiles,
} from '../../../coreos/index.js'
import { writeResult } from '../../../base/runtime/index.js'
import { wishesOf } from './customization.js'
import type { CustomizeFlags } from './customize-options.js'
import { printKeyfiles } from './iso-actions.js'
import { inputBytes, namedFiles, refuseTerminal, writeOutput, writeTo, type LiveCommand } from './live-input.js'

async function wrap(
  files: InitramfsFiles,
  output: string | undefined,
  { environment, clock }: LiveCommand,
): Promise<void> {
  refuseTerminal(output ?? '-', environment)
  const image = await wrapFiles(files, clock)
  if (output === undefined || output === '-') return writeTo(environment, bytesSource(image))
  await LiveImageError.during(`writing ${output}`, () => writeResult(output, image))
}

async function unwrap(path: string | undefined, { environment, clock }: LiveCommand): Promise<InitramfsFiles> {
  if (path === undefined) return readInitramfs(await inputBytes(undefined, environment), clock)
  await using image = await LiveImageError.during(`opening ${path}`, () => openFileSource(path, clock))
  return await readInitramfs(image, clock)
}

export async function pxeIgnitionWrap(
  options: { ignitionFile?: string; output?: string },
  command: LiveCommand,
): Promise<void> {
  const config = await inputBytes(options.ignitionFile, command.environment)
  await wrap(new Map([[IGNITION_FILE, config]]), options.output, command)
}

export async function pxeIgnitionUnwrap(path: string | undefined, _: object, command: LiveCommand): Promise<void> {
  const config = (await unwrap(path, command)).get(IGNITION_FILE)
  if (!config) throw new LiveImageError("couldn't find Ignition config in archive")
  await writeTo(command.environment, bytesSource(config))
}

export async function pxeNetworkWrap(
  options: { keyfile: string[]; output?: string },
  command: LiveCommand,
): Promise<void> {
  await wrap(keyfileFiles(keyfilesAt(await namedFiles(options.keyfile))), options.output, command)
}

export async function pxeNetworkUnwrap(
  path: string | undefined,
  options: { directory?: string },
  command: LiveCommand,
): Promise<void> {
  await printKeyfiles(keyfilesIn(await unwrap(path, command)), options, command)
}

export async function pxeCustomize(
  path: string,
  options: CustomizeFlags & { output: string },
  command: LiveCommand,
): Promise<void> {
  const { environment, clock } = command
  refuseTerminal(options.output, environment)
  await using base = await LiveImageError.during(`opening ${path}`, () => openFileSource(path, clock))
  const wishes = await wishesOf(options, command)
  const customized = await customizePxe(base, wishes, clock, (message) => environment.stderr.lines(message.split('\n')))
  if (customized.files.has(IGNITION_FILE))
    environment.stderr.program(
      `PXE configuration must include kernel arguments:\n\t${liveKernelArguments({ ignition: true })}\n`,
    )
  await writeOutput(options.output, customized.image, environment)
}

export function pxeKargs(options: LivePxe, { environment: { stdout } }: LiveCommand): void {
  stdout.line(pxeAppendParams(options))
}

export function pxeIpxe(
  { initrdUrl, ...options }: LivePxe & { kernelUrl: string; initrdUrl: string[] },
  { environment: { stdout } }: LiveCommand,
): void {
  stdout.contents(liveIpxeScript({ ...options, initramfsUrls: initrdUrl }))
}
