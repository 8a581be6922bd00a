import type { CommandError } from './command-results.js'

/**
 * IPA's errors by class name, with the HTTP code and the sentence that each always has (IPA's source).
 * A failed command shows all of it; a rejected request only `SENTENCE: DETAILS`.
 */
const AGENT_ERROR_TYPES = {
  InvalidContentError: { code: 400, message: 'Invalid request body' },
  InvalidCommandError: { code: 400, message: 'Invalid command' },
  InvalidCommandParamsError: { code: 400, message: 'Invalid command parameters' },
  NotFound: { code: 404, message: 'Not found' },
  RequestedObjectNotFoundError: { code: 404, message: 'Not found' },
  CommandExecutionError: { code: 500, message: 'Command execution failed' },
  AgentIsBusy: { code: 409, message: 'Agent is busy' },
  VersionMismatch: { code: 409, message: 'Hardware managers version mismatch, reload agent with correct version' },
  HardwareManagerMethodNotFound: { code: 500, message: 'No HardwareManager found to handle method' },
  DeviceNotFound: { code: 404, message: 'Error finding the disk or partition device to deploy the image onto' },
  ImageDownloadError: { code: 500, message: 'Error downloading image' },
  ImageWriteError: { code: 500, message: 'Error writing image to device' },
  ImageChecksumError: { code: 500, message: 'Error verifying image checksum' },
  BlockDeviceEraseError: { code: 500, message: 'Error erasing block device' },
  SoftwareRAIDError: { code: 500, message: 'Error creating Software RAID' },
  SystemRebootError: { code: 500, message: 'Error rebooting system' },
  CleaningError: { code: 500, message: 'Clean step failed' },
  DeploymentError: { code: 500, message: 'Deploy step failed' },
  ServicingError: { code: 500, message: 'Service step failed' },
} as const satisfies Record<string, { code: number; message: string }>
export type AgentErrorType = keyof typeof AGENT_ERROR_TYPES

const isAgentErrorType = (type: string): type is AgentErrorType => Object.hasOwn(AGENT_ERROR_TYPES, type)

/** An error of the agent as it stands on the wire. */
export class AgentError extends Error {
  override name = 'AgentError'
  /** IPA's class name; one that the catalogue lacks counts as a failed command. */
  readonly type: string
  readonly code: number
  /** The sentence that all errors of this type share. */
  readonly sentence: string
  readonly details: string

  constructor(type: AgentErrorType | (string & {}), details: string, options?: { cause?: unknown }) {
    const { code, message } = AGENT_ERROR_TYPES[isAgentErrorType(type) ? type : 'CommandExecutionError']
    super(`${message}: ${details}`, options)
    this.type = type
    this.code = code
    this.sentence = message
    this.details = details
  }

  toWire(): CommandError {
    return { type: this.type, code: this.code, message: this.sentence, details: this.details }
  }
}

/** The agent's refusals, in IPA's words. */
export const agentErrors = {
  malformedCommandName: () =>
    new AgentError('InvalidCommandError', 'Command name must be of the form <extension>.<name>'),
  unknownExtension: (name: string) =>
    new AgentError('RequestedObjectNotFoundError', `Extension with id ${name} not found.`),
  unknownCommand: (name: string) => new AgentError('InvalidCommandError', `Unknown command: ${name}`),
  unknownResult: (id: string) =>
    new AgentError('RequestedObjectNotFoundError', `Command Result with id ${id} not found.`),
  busy: (command: string) => new AgentError('AgentIsBusy', `executing command ${command}`),
  noSuchStep: (step: string) => new AgentError('HardwareManagerMethodNotFound', `Could not find method: ${step}`),
}

/** Body of every HTTP answer of 400 and above. Ironic reads `faultstring` and fails when there is none. */
export interface AgentFault {
  faultcode: 'Client' | 'Server'
  faultstring: string
}

export const agentFault = (status: number, faultstring: string): AgentFault => ({
  faultcode: status >= 500 ? 'Server' : 'Client',
  faultstring,
})

/** Faults that come from routing and request parsing, before any command, in the words of IPA's web framework. */
export const agentFaults = {
  invalidToken: '401 Unauthorized: Token invalid.',
  notFound:
    '404 Not Found: The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.',
  methodNotAllowed: '405 Method Not Allowed: The method is not allowed for the requested URL.',
  missingNameOrParams: '400 Bad Request: Missing or invalid name or params',
  undecodable: (why: string) => `400 Bad Request: Failed to decode JSON object: ${why}`,
}
