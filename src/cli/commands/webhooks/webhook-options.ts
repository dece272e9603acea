import { eventTypes } from '../../../contract/events.ts';
import { argument, many, option } from '../../command.ts';

/** The argument that names a webhook. */
export const webhookId = argument('<ID>', 'the webhook', { field: 'webhookId' });

/** The option for the events to send; `more` says what holds without it, or what becomes of those before. */
export const typeOption = (more: string) =>
  many('--type <TYPE>', `an event to send, such as license.created; ${more}`, { field: 'types', choices: eventTypes });

/** The option for what a webhook is for. */
export const description = option('--description <TEXT>', 'what it is for', { field: 'description' });
