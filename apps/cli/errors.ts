import { defineCatalogue } from '../../base/runtime/index.js'

declare module '../../base/runtime/error.js' {
  interface ErrorCatalogues {
    cli: typeof ERRORS
  }
}

/** The codes of `cli/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'agent-config-nmstate': {
    sentence: 'no keyfiles can be made of the network states',
    remedy: 'look with nmstatectl gc, or give keyfiles with --keyfile',
  },
  'bad-option': {
    sentence: 'an option has an unusable value',
    remedy: 'give a value of the form that the message names',
  },
  'bmc-account': {
    sentence: 'the account of the BMCs is incomplete',
    remedy: 'give --bmc-user and --bmc-password, or neither',
  },
  'boot-image-runtime': {
    sentence: 'ironstage does not build boot images; it uses the published ones',
    remedy: 'leave out --runtime',
  },
  'config-file': {
    sentence: 'the files with options of ironstage contradict each other or cannot be read',
    remedy: 'put the options into one readable file',
  },
  'file-unreadable': {
    sentence: 'a file cannot be read',
    remedy: 'name a file that this user may read',
  },
  'host-manifests': {
    sentence: 'the manifests of --hosts cannot be used',
    remedy: 'correct what the message names; ironstage bmh explain FILE shows the details',
  },
  'images-make': {
    sentence: 'the images cannot be written',
    remedy: 'name a folder that this user may write with -C, or replace existing files with --force',
  },
  'ironic-access': {
    sentence: 'the options for access to Ironic contradict each other or cannot be read',
    remedy: 'correct the option that the message names',
  },
  'lab-unreachable': {
    sentence: 'no ironstage answers at the URL',
    remedy: 'start ironstage up, and name its URL with --url',
  },
  'no-written-file': {
    sentence: 'the Ignition config writes no such file',
    remedy: 'list the files with ironstage ignition show',
  },
  'option-file': {
    sentence: 'a file that an option names does not hold what the option needs',
    remedy: 'make the file as the message says',
  },
  'public-url': {
    sentence: 'this host has no address that a BMC can reach',
    remedy: 'name the URL of the image service with --public-url',
  },
  'report-file': {
    sentence: 'a report or another file that was asked for cannot be written',
    remedy: 'name a file in a folder that exists and may be written',
  },
  'standard-input': {
    sentence: 'standard input is too long',
    remedy: 'give a file that this command can read',
  },
  'step-args': {
    sentence: 'the arguments of the step are not a JSON object',
    remedy: 'give an object as JSON, a file that holds one, or - for standard input',
  },
  'step-name': {
    sentence: 'the name of the new step cannot be used',
    remedy: 'use letters, digits and underscores, a letter first',
  },
  'step-new': {
    sentence: 'the files of the new step cannot be made',
    remedy: 'name a new folder that this user may write with --dir',
  },
  'unknown-error-code': {
    sentence: 'there is no error with this code',
    remedy: 'list all codes with ironstage errors',
  },
  'unknown-variable': {
    sentence: 'the environment has a variable of ironstage that is not an option',
    remedy: 'unset it, or correct its name',
  },
  usage: {
    sentence: 'the command line is wrong',
    remedy: "see the command's --help",
  },
})
