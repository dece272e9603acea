import { testControls } from './short-form.ts';

testControls('sqlite', ({ name }) => name === 'unread-answers');
