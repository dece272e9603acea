import { testControls } from './short-form.ts';

// Those of unread-answers take as long as all others together, and have a file of their own.
testControls('sqlite', ({ name }) => name !== 'unread-answers');
