import { defineCatalogue } from '../../base/runtime/index.js'

declare module '../../base/runtime/error.js' {
  interface ErrorCatalogues {
    cli: typeof ERRORS
  }
}

/** The codes of `cli/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'agent-config-nmstate': {
    sentence: 'the network states cannot be converted to keyfiles',
    remedy: 'check them with nmstatectl gc, or give keyfiles with --keyfile',
  },
  'bad-option': {
    sentence: 'an option has an invalid value',
    remedy: 'use a value of the form that the message names',
  },
  'bmc-account': {
    sentence: 'the BMC account is incomplete',
    remedy: 'give --bmc-user and --bmc-password, or neither',
  },
  'boot-image-runtime': {
    sentence: 'ironstage does not build boot images but uses the published ones',
    remedy: 'leave out --runtime',
  },
  'config-file': {
    sentence: 'the option files contradict each other or cannot be read',
    remedy: 'put the options into one readable file',
  },
  'file-unreadable': {
    sentence: 'a file cannot be read',
    remedy: 'name a file that you can read',
  },
  'host-manifests': {
    sentence: 'the manifests of --hosts cannot be used',
    remedy: 'correct what the message names; ironstage bmh explain FILE shows the details',
  },
  'images-make': {
    sentence: 'the images cannot be written',
    remedy: 'name a writable folder with -C, or replace existing files with --force',
  },
  'ironic-access': {
    sentence: 'the options for access to Ironic contradict each other or are unreadable',
    remedy: 'correct the option that the message names',
  },
  'lab-unreachable': {
    sentence: 'no ironstage answers at the URL',
    remedy: 'start ironstage up, and give its URL with --url',
  },
  'no-written-file': {
    sentence: 'the Ignition config writes no such file',
    remedy: 'list the files with ironstage ignition show',
  },
  'option-file': {
    sentence: 'a file named by an option has unsuitable contents',
    remedy: 'change the file as the message says',
  },
  'public-url': {
    sentence: 'this host has no address that BMCs can reach',
    remedy: 'give the URL of the image service with --public-url',
  },
  'report-file': {
    sentence: 'a report or another requested file cannot be written',
    remedy: 'name a file in an existing, writable folder',
  },
  'standard-input': {
    sentence: 'standard input is too long',
    remedy: 'use a file instead',
  },
  'step-args': {
    sentence: 'the arguments of the step are not a JSON object',
    remedy: 'give a JSON object, a file with one, or - for standard input',
  },
  'step-name': {
    sentence: 'the name of the new step cannot be used',
    remedy: 'use letters, digits and underscores, starting with a letter',
  },
  'step-new': {
    sentence: 'the files of the new step cannot be created',
    remedy: 'name a new, writable folder with --dir',
  },
  'unknown-error-code': {
    sentence: 'there is no error with this code',
    remedy: 'list all codes with ironstage errors',
  },
  'unknown-variable': {
    sentence: 'an environment variable of ironstage does not correspond to an option',
    remedy: 'unset it, or correct its name',
  },
  usage: {
    sentence: 'the command line is wrong',
    remedy: "see the command's --help",
  },
})
