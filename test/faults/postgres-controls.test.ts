import { testControls } from './short-form.ts';

testControls('postgres');
